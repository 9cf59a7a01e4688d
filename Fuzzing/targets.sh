# The targets, and how they are run; for the other scripts here.

# What takes bytes from anybody, and what works with values that were decoded.
byte_targets=(frames handshake decoding encoding calls beacon)
value_targets=(journal coordinator body options workbook answers pixels)

# Which of the two programs has a target.
kind_of() {
    case " ${byte_targets[*]} " in
        *" $1 "*) echo bytes ;;
        *) echo values ;;
    esac
}

# Longest input. Beacons have a limit of 512 bytes, to be gone beyond; of values a byte is a step or a choice; elsewhere
# short inputs reach as much and are faster.
length_of() {
    case $1 in
        beacon) echo 600 ;;
        encoding) echo 96 ;;
        *) echo 256 ;;
    esac
}

# Megabytes that the process may take: a program of a tenth of the size has the bytes' targets.
memory_of() {
    if [ "$(kind_of "$1")" = bytes ]; then echo 1024; else echo 512; fi
}

# Values reach all of the program, with hundreds of thousands of edges: how often each was taken, and which are rare, would
# cost more than the runs.
learning_of() {
    if [ "$(kind_of "$1")" = values ]; then echo -use_counters=0 -entropic=0; fi
}
