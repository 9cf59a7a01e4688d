import Glibc

extension WCSTransform {
    /// The area in square arcseconds of a pixel at each place, counted from 1. It is the cross product of a step along x and
    /// one along y, each from half a pixel before the place to half a pixel behind. It is 0 where the projection has no sky.
    func pixelAreas(_ places: [(x: Double, y: Double)]) -> [Double] {
        let around = sky(
            places.flatMap { place in
                [
                    (place.x - 0.5, place.y), (place.x + 0.5, place.y), (place.x, place.y - 0.5),
                    (place.x, place.y + 0.5),
                ]
            })
        return places.indices.map { index in
            guard let left = around[4 * index], let right = around[4 * index + 1], let low = around[4 * index + 2],
                let high = around[4 * index + 3]
            else { return 0 }
            func vector(_ place: (alpha: Double, delta: Double)) -> SIMD3<Double> {
                let (alpha, delta) = (place.alpha * .pi / 180, place.delta * .pi / 180)
                return SIMD3(cos(delta) * cos(alpha), cos(delta) * sin(alpha), sin(delta))
            }
            let (along, across) = (vector(right) - vector(left), vector(high) - vector(low))
            let product = SIMD3(
                along.y * across.z - along.z * across.y, along.z * across.x - along.x * across.z,
                along.x * across.y - along.y * across.x)
            let arcseconds = 180 * 3600 / Double.pi
            let area = (product * product).sum().squareRoot() * arcseconds * arcseconds
            return area.isFinite ? area : 0
        }
    }
}
