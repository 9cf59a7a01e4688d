import Glibc

/// The shapes that make up a kernel: Gaussians of several widths times polynomials (Alard and Lupton 1998, ApJ 503, 325,
/// equation 4). Each is a product of a function of x and one of y.
struct KernelBasis {
    /// A product of two rows of weights.
    struct Term {
        var x: [Float]
        var y: [Float]
    }

    let radius: Int
    let terms: [Term]

    /// The largest radius of a kernel. A wider one would take thousands of multiplications for every pixel.
    private static let largestRadius = 18

    /// - Parameters:
    ///   - sigma: The sigma of the Gaussian that is expected as the kernel, in pixels.
    ///   - stars: The number of stars for the fit; few stars determine few terms.
    init(sigma: Double, stars: Int) {
        let radius = min(max(Int((5.5 * sigma).rounded(.up)), 4), Self.largestRadius)
        let recipe: [(width: Double, degree: Int)]
        switch stars {
        case 10...: recipe = [(0.6, 2), (1, 4), (1.8, 2), (3.2, 0)]
        case 4...: recipe = [(0.6, 0), (1, 2), (1.8, 0)]
        default: recipe = [(1, 0)]
        }
        var terms: [Term] = []
        for part in recipe {
            let width = part.width * sigma
            let rows = (0...part.degree).map { power in
                (-radius...radius).map { place -> Float in
                    let u = Double(place) / width
                    return Float(pow(u, Double(power)) * exp(-u * u / 2) / (width * 2.5066))
                }
            }
            for i in 0...part.degree {
                for j in 0...(part.degree - i) { terms.append(Term(x: rows[i], y: rows[j])) }
            }
        }
        (self.radius, self.terms) = (radius, terms)
    }

    /// The sum of all shapes, each multiplied with its amount, row by row.
    func kernel(_ amounts: [Double]) -> [Float] {
        let side = 2 * radius + 1
        var sum = [Double](repeating: 0, count: side * side)
        for (term, amount) in zip(terms, amounts) {
            for j in 0..<side {
                for i in 0..<side { sum[j * side + i] += amount * Double(term.x[i]) * Double(term.y[j]) }
            }
        }
        return sum.map { Float($0) }
    }
}
