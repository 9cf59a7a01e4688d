/// What is said of a node whose coordinator does not work yet.
enum UnopenedJobs {
    static let words = """
        does not take or show jobs now: it is starting, or waits for the nodes with copies of its jobs, which may have taken them \
        over (skynode jobs unprotect --all lets it go on alone)
        """
}
