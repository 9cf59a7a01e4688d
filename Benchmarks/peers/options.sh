# shellcheck shell=bash disable=SC2034 # to be sourced by run.sh and parallel_bench.sh, which use what is set here
# The flags of the benches, as measures.py has them.

options() {
    tasks=1000
    single=200
    seconds_tasks=80
    lengths=""
    length_seconds=8 # how long a throughput with tasks of a given length should take
    local usage number='[1-9][0-9]{0,6}' length='[0-9](\.[0-9]+)?' form
    usage="usage: ${0##*/} [--tasks N] [--single N] [--seconds-tasks N] [--lengths 0,0.001,0.01,0.1]"
    usage="$usage [--length-seconds N]"
    while [ $# -gt 0 ]; do
        case $1 in
            -h | --help) echo "$usage"; exit 0 ;;
            --tasks | --single | --seconds-tasks | --length-seconds) form="^$number\$" ;;
            --lengths) form="^$length(,$length)*\$" ;;
            *) echo "${0##*/}: unknown argument $1" >&2; exit 2 ;;
        esac
        [[ ${2-} =~ $form ]] || { echo "${0##*/}: invalid value '${2-}' of $1" >&2; exit 2; }
        case $1 in
            --tasks) tasks=$2 ;;
            --single) single=$2 ;;
            --seconds-tasks) seconds_tasks=$2 ;;
            --lengths) lengths=$2 ;;
            --length-seconds) length_seconds=$2 ;;
        esac
        shift 2
    done
}
