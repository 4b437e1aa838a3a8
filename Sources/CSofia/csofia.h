#ifndef CSOFIA_H
#define CSOFIA_H
// The search path of pkg-config alone is used: the C target CSIPStack includes the library's headers itself.
#endif
