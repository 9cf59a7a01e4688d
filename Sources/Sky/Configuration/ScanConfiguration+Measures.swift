extension ScanConfiguration {
    /// The measures that the configuration's columns need beyond those that every source has.
    public var measures: FurtherMeasures {
        guard let columns else { return [] }
        return CatalogueColumn.further.reduce(into: []) { measures, column in
            if columns.contains(column.name) { measures.formUnion(column.measures) }
        }
    }

    /// The same configuration as the measuring code needs it. The choice of columns and their order decide nothing but the
    /// measures.
    var measuring: ScanConfiguration {
        var configuration = self
        let needed = measures.columns
        configuration.columns = needed.isEmpty ? nil : needed
        return configuration
    }
}
