"""How SExtractor is run for a comparison with a scan: with the settings that a scan has by default."""

from pathlib import Path


def command(image: object, folder: Path, columns: str, **more: object) -> list[str]:
    """The words that make folder/sex.fits, with those columns, of an image, or of two whose names a comma parts.

    Further settings, or others, by their names. The columns and the filter are written into the folder.
    """
    (folder / "columns").write_text(columns.replace(" ", "\n") + "\n")
    (folder / "default.conv").write_text("CONV NORM\n1 2 1\n2 4 2\n1 2 1\n")
    settings = {
        "CATALOG_NAME": folder / "sex.fits",
        "CATALOG_TYPE": "FITS_1.0",
        "PARAMETERS_NAME": folder / "columns",
        "FILTER_NAME": folder / "default.conv",
        "PHOT_APERTURES": 10,
        # What the header says counts more, as in a scan.
        "GAIN": 0,
        "SATUR_LEVEL": "1e9",
        "VERBOSE_TYPE": "QUIET",
        **more,
    }
    return ["source-extractor", str(image), *(str(word) for key, value in settings.items() for word in (f"-{key}", value))]
