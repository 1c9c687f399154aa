// Nothing: the program of this file carries the precompiled headers of the tests.
int main() {}
