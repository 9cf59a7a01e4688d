/// Whether no scalar of a text moves the cursor or ends a line.
func isOneLine(_ text: String) -> Bool {
    !text.unicodeScalars.contains { scalar in
        scalar.value < 32 || (127...159).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}
