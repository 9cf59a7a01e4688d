/// One source that was painted into a synthetic frame.
public struct TruthSource: Hashable, Sendable {
    /// What was painted.
    public enum Kind: String, Sendable, CaseIterable {
        case star
        case galaxy
        /// A new point source, in the truth of frames that other programs made.
        case transient
        /// A moving point source, in the truth of frames that other programs made.
        case mover
    }

    /// What was painted.
    public var kind: Kind
    /// Column in pixels counted from 1, as in a catalogue (`X_IMAGE`).
    public var x: Double
    /// Row in pixels counted from 1 (`Y_IMAGE`).
    public var y: Double
    /// Right ascension in degrees (ICRS).
    public var alpha: Double
    /// Declination in degrees (ICRS).
    public var delta: Double
    /// Magnitude.
    public var magnitude: Double
    /// Total flux in ADU over the exposure.
    public var flux: Double
    /// Best signal to noise that any detector can reach, that of the matched filter:
    /// flux / sqrt(flux / gain + A skyvar) with A the noise-equivalent area in pixels (King 1983, PASP 95, 163).
    public var signalToNoise: Double
    /// Half-light radius along the major axis in pixels, before the seeing; 0 for a star.
    public var radius: Double = 0
    /// Minor over major axis.
    public var axisRatio: Double = 1
    /// Angle of the major axis in degrees, from x towards y.
    public var angle: Double = 0
    /// Sersic index: 1 exponential, 4 de Vaucouleurs, 0 for a star.
    public var sersicIndex: Int = 0

    /// A point source; a galaxy's shape is set afterwards.
    public init(
        kind: Kind, x: Double, y: Double, alpha: Double, delta: Double, magnitude: Double, flux: Double,
        signalToNoise: Double
    ) {
        self.kind = kind
        self.x = x
        self.y = y
        self.alpha = alpha
        self.delta = delta
        self.magnitude = magnitude
        self.flux = flux
        self.signalToNoise = signalToNoise
    }
}
