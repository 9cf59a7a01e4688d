// Errors are those of the module beneath: whoever imports this one can catch them.
@_exported public import Base
