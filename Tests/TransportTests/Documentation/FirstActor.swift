import Distributed
import Transport

// The code of the article "Your first distributed actor", as `FirstActorTests` checks.

distributed actor Weather: ClusterActor {
    typealias ActorSystem = ClusterSystem

    static let methods = MethodTable(
        [
            Method("report") { (weather: isolated Weather, station: String, celsius: Double) in
                weather.report(station, celsius)
            },
            Method("warmest") { (weather: isolated Weather) in try weather.warmest() },
        ],
        errors: [DeclaredError("no-reports", NoReports.self)])

    private var reports: [String: Double] = [:]

    distributed func report(_ station: String, _ celsius: Double) {
        reports[station] = celsius
    }

    distributed func warmest() throws -> String {
        guard let warmest = reports.max(by: { $0.value < $1.value }) else { throw NoReports() }
        return warmest.key
    }
}

struct NoReports: Error, Codable {}

func startStation(_ key: ClusterKey) async throws -> (system: ClusterSystem, weather: Weather) {
    var settings = ClusterSettings(name: "station")
    settings.listen = .hostPort(host: "127.0.0.1", port: 0)
    settings.security = .clusterKey(key)
    let system = ClusterSystem(settings)
    try await system.start()
    let weather = ClusterSystem.withActorName("weather") { Weather(actorSystem: system) }
    return (system, weather)
}

func askStation(at address: NodeAddress, _ key: ClusterKey) async throws -> String {
    var settings = ClusterSettings(name: "visitor")
    settings.security = .clusterKey(key)
    let system = ClusterSystem(settings)
    try await system.start()
    defer { Task { await system.shutdown() } }

    let station = try await system.join(address)
    let weather = try Weather.resolve(id: ActorAddress(node: station.node, name: "weather"), using: system)
    return try await withDeadline(.seconds(20)) {
        try await weather.report("Paranal", 11.5)
        try await weather.report("La Silla", 13.2)
        return try await weather.warmest()
    }
}
