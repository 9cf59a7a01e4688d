/// What clients of the HTTP interface may take, so that no client can shut the others out.
struct HTTPLimits: Sendable {
    /// Connections at a time of all machines but this one. Each holds a descriptor and some 20 KB.
    var connections = 192
    /// Connections at a time of one other machine: browsers open six, and a proxy stands for many clients.
    var connectionsBySource = 48
    /// Connections at a time of this machine: a reserve that other machines cannot fill.
    var localConnections = 64
    /// Requests at a time that a node is answering. They are fewer than the connections, so that a probe always finds a place.
    var answers = 144
    /// The same for one other machine: 32 may follow jobs, and some ask.
    var answersBySource = 40
    /// The same for this machine.
    var localAnswers = 48

    /// Longest time from the first byte of a request, or from the connection's start, to its last byte.
    /// A request has 64 KiB at most and passes the slowest link within a second or two.
    var receiveLimit = Duration.seconds(10)
    /// How long a connection may stay open between two requests; Prometheus asks every 15 s.
    var idleLimit = Duration.seconds(60)
    /// How long a client may read nothing of an answer.
    var stallLimit = Duration.seconds(30)
    /// How long a client may take to close its side after the node has closed its own.
    var closeLimit = Duration.seconds(5)
    /// How long the node may work on an answer that does not follow a job.
    var answerLimit = Duration.seconds(30)

    /// How many requests a second one source may make, and how many at once.
    var requestRate = 100.0
    var requestBurst = 200.0
    /// How many wrong tokens a second one source may show, and how many at once, until they are slowed. A monitor that was given
    /// the wrong file asks four times a minute and goes on being told so.
    var guessRate = 0.1
    var guessBurst = 10.0
    /// How long the refusal of a slowed guess waits, so that a source has one guess a second for each of its connections.
    var guessDelay = Duration.seconds(1)
    /// How many sources are remembered.
    var sources = 1024

    func connections(of source: HTTPSource) -> Int { source.isLocal ? localConnections : connectionsBySource }
    func answers(of source: HTTPSource) -> Int { source.isLocal ? localAnswers : answersBySource }
}
