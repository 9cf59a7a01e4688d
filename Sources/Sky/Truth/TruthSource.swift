/// One source that was painted into a synthetic frame.
public struct TruthSource: Hashable, Sendable {
    /// What was painted.
    public enum Kind: String, Sendable, CaseIterable {
        case star
        case galaxy
        /// A point source that is there in some epochs only.
        case transient
        /// A point source that moves between epochs.
        case mover
        /// A cosmic ray's track through the detector.
        case cosmic
        /// A satellite's trail across the frame.
        case trail

        /// Whether it belongs to the sky. A catalogue should not have sources that do not.
        public var isCelestial: Bool { self != .cosmic && self != .trail }
    }

    /// What was painted.
    public var kind: Kind
    /// The number that the source keeps in all epochs, from 1. It is 0 in the only frame of a recipe, and for a source that
    /// belongs to one exposure alone.
    public var id = 0
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
    /// Half-light radius along the major axis in pixels, before the seeing; 0 for a point.
    public var radius: Double = 0
    /// Minor over major axis.
    public var axisRatio: Double = 1
    /// Angle of the major axis, or of a track, in degrees, from x towards y.
    public var angle: Double = 0
    /// Sersic index: 1 exponential, 4 de Vaucouleurs, 0 for anything else.
    public var sersicIndex: Int = 0
    /// Motion on the sky in seconds of arc per hour.
    public var rate: Double = 0
    /// Direction of the motion in degrees from north through east, in the first epoch.
    public var heading: Double = 0
    /// `id` of the galaxy that a transient is in; 0 for none.
    public var host = 0
    /// The magnitude less the magnitude in the first epoch.
    public var magnitudeChange: Double = 0
    /// The length in pixels of a track in the frame, whose middle is at `x` and `y`; 0 for anything else.
    public var length: Double = 0

    /// A point source; the caller sets all further values afterwards.
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
