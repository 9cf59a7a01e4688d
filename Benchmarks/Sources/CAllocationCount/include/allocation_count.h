#pragma once

#include <stdint.h>

/// Starts counting, from 0.
void allocation_count_start(void);

/// Stops counting and gives the number of allocations of all threads since the start.
int64_t allocation_count_stop(void);

/// While counting: allocations less releases since the start. Negative where more was released.
int64_t allocation_count_live(void);

/// Makes the allocator keep what is released, instead of giving large blocks back to the system and taking new ones,
/// whose pages have to be made and cleared again.
void allocation_keep(void);

/// Gives back to the system what the allocator has kept for later.
void allocation_trim(void);
