// The errors of this module are those of Base, so a program that imports this module can catch them.
@_exported public import Base
