#!/usr/bin/env bash
# Installs the peers with which the dispatch of tasks is compared: Dask and Ray, with matplotlib for the plots, and GNU parallel.
set -euo pipefail
cd "$(dirname "$0")"
[ $# -eq 0 ] || { echo "peers: setup.sh takes no arguments, got $1" >&2; exit 2; }
exec ../../deploy/python.sh ../.build/peers requirements.txt parallel
