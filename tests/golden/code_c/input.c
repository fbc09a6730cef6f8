#include <stdio.h>

#define MAX(a, b) \
    ((a) > (b) ? (a) : (b))

typedef struct shelf {
    int size;
} shelf_t;

static int count(const shelf_t *s);
int open_shelf(void);

/* int not_a_function(void) */
static int
count(const shelf_t *s)
{
    if (s) {
        return s->size;
    }
    return 0;
}

int main(int argc, char **argv) {
    printf("%d\n", MAX(1, 2));
}
