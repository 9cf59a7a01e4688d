#!/usr/bin/env bash
# Makes dist/skynode_VERSION_ARCH.deb from the release build; installs what that needs.
#
#     deploy/package.sh        make deb, which builds first
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "package: $*" >&2
    exit 1
}

deploy/setup.sh --package
version=$(sed -n 's/.*current = "\(.*\)".*/\1/p' Sources/Base/SkyNetVersion.swift)
noted=$(dpkg-parsechangelog -l deploy/debian/changelog -S Version)
[ "$version" = "$noted" ] || fail "the program is $version, but deploy/debian/changelog ends with $noted"

program=.build/release/skynode
[ -x $program ] || fail "no release build; run make deb"
# The package does not depend on Swift's libraries.
! readelf -d $program | grep -q 'NEEDED.*libswiftCore' || fail "$program is without Swift's runtime; run make deb"

stage=.build/package
rm -rf $stage
mkdir -p $stage/skynode $stage/skynode/completions $stage/skynode/docs $stage/skynode/skynode.avahi
cp -r deploy/debian $stage/skynode/debian
here=$stage/skynode
strip -o $here/skynode "$program"
cp deploy/systemd/skynode.service $here/debian/skynode.service
cp deploy/systemd/skynode@.service $here/debian/skynode@.service
cp deploy/debian/skynode.yaml $here/
cp deploy/avahi/skynode.service $here/skynode.avahi/
cp docs/{USING,OPERATING,GLOSSARY,PROTOCOL,BENCHMARKS}.md docs/openapi.yaml $here/docs/
mkdir $here/examples
cp -r deploy/prometheus deploy/slurm deploy/kubernetes $here/examples/
for shell in bash:skynode zsh:_skynode fish:skynode.fish; do
    $here/skynode --generate-completion-script "${shell%%:*}" >$here/completions/"${shell#*:}"
done

# The libraries on whose arithmetic results depend, as Debian has built them here: with them a version of skynode measures alike on
# every distribution. Each with its licence; their sources are Debian's, by the names and versions in
# Built-Using.
mkdir $here/libraries $here/licences
sources=""
for name in sep wcs erfa cfitsio; do
    read -r soname path < <(ldd "$program" | sed -n "s/^\s*\(lib$name\.so\.[0-9]*\) => \(\S*\) .*/\1 \2/p") ||
        fail "$program has no lib$name"
    package=$(dpkg -S "$(realpath "$path")" | sed 's/: .*//') || fail "$path is of no Debian package"
    cp "$(realpath "$path")" "$here/libraries/$soname"
    cp "/usr/share/doc/${package%%:*}/copyright" "$here/licences/lib$name.copyright"
    sources="$sources${sources:+, }$(dpkg-query -W -f '${source:Package} (= ${source:Version})' "$package")"
done
echo "$sources" >$here/sources

date=$(dpkg-parsechangelog -l deploy/debian/changelog -S Timestamp)
$here/skynode --experimental-dump-help | deploy/manual.py --date "$(date -u -d "@$date" +%F)" >$here/skynode.1 ||
    fail "the manual cannot be made"

(cd $here && dpkg-buildpackage -b -us -uc >../build.log 2>&1) || {
    tail -n 20 $stage/build.log >&2
    fail "the package cannot be built; all of it is in $stage/build.log"
}
mkdir -p dist
mv $stage/*.deb dist/
echo "dist/$(cd $stage && sed -n 's/^ [0-9a-f]* [0-9]* \(skynode_.*deb\)$/\1/p' ./*.changes | sort -u | head -n 1)"
