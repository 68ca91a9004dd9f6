// Sums a table over all ranks in a fixed tree, with the calls of MPI and the copies that a training makes, and in the order that
// MPI likes.
//
//   mpicc -O3 -march=native exchange.c -o exchange
//   mpirun -n RANKS exchange [FLOATS [REPEATS]]
//
// Rank 0 prints milliseconds for one sum: the median over the repeats of the slowest rank, for the fixed tree (of which: exchanging), and
// for MPI_Allreduce. The number of ranks is a power of two and divides that of the floats.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of_slowest(double *seconds, int repeats) {
    MPI_Allreduce(MPI_IN_PLACE, seconds, repeats, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(seconds, repeats, sizeof *seconds, ascending);
    return seconds[repeats / 2];
}

// Each other rank gets a part: its own, or all the same one.
static void swap(const float *to, int is_one, float *from, int part) {
    MPI_Request requests[2 * ranks];
    int count = 0;
    for (int other = 0; other < ranks; other++) {
        if (other == rank) continue;
        const float *mine = to + (is_one ? 0 : (size_t)other * part);
        MPI_Irecv(from + (size_t)other * part, part, MPI_FLOAT, other, 8, MPI_COMM_WORLD, &requests[count++]);
        MPI_Isend(mine, part, MPI_FLOAT, other, 8, MPI_COMM_WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    memcpy(from + (size_t)rank * part, to + (is_one ? 0 : (size_t)rank * part), sizeof(float) * part);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int floats = argc > 1 ? atoi(argv[1]) : 6400000, repeats = argc > 2 ? atoi(argv[2]) : 15;
    int part = floats / ranks;
    size_t bytes = sizeof(float) * floats;
    float *mine = malloc(bytes), *received = malloc(bytes), *sum = malloc(bytes);
    double fixed[repeats], exchanging[repeats], open[repeats];
    for (int i = 0; i < floats; i++) mine[i] = (float)(i % 1000) * 1e-3f + rank;
    for (int repeat = 0; repeat < repeats; repeat++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        swap(mine, 0, received, part);
        double swapped = MPI_Wtime();
        for (int step = 1; step < ranks; step *= 2)
            for (int left = 0; left < ranks; left += 2 * step) {
                float *to = received + (size_t)left * part, *from = to + (size_t)step * part;
                for (int i = 0; i < part; i++) to[i] += from[i];
            }
        double added = MPI_Wtime();
        swap(received, 1, sum, part);
        fixed[repeat] = MPI_Wtime() - began;
        exchanging[repeat] = fixed[repeat] - (added - swapped);
        MPI_Barrier(MPI_COMM_WORLD);
        began = MPI_Wtime();
        MPI_Allreduce(mine, sum, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        open[repeat] = MPI_Wtime() - began;
    }
    double of_fixed = median_of_slowest(fixed, repeats), of_exchange = median_of_slowest(exchanging, repeats);
    double of_open = median_of_slowest(open, repeats);
    if (rank == 0)
        printf("%d ranks, %.1f MB: fixed tree %.3f ms (exchanging %.3f ms), MPI_Allreduce %.3f ms\n", ranks, floats * 4e-6,
               1e3 * of_fixed, 1e3 * of_exchange, 1e3 * of_open);
    MPI_Finalize();
}
