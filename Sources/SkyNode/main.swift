import SkyCore
