// A block that is const is not written to through a view of it.
#include <hearsay/block.hpp>

void clear(hearsay::BlockView<double> X) { X.setZero(); }

#ifdef WRONG
void use(const hearsay::Block<double>& X) { clear(X); }
#else
void use(hearsay::Block<double>& X) { clear(X); }
#endif
