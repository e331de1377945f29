// Threads of a CTA; another count by -D.
#ifndef THREADS
#define THREADS 128
#endif
