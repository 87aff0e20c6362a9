/* SPDX-License-Identifier: MIT */
/* The few Fortran routines that are called; Debian's serial OpenBLAS ships no lapacke.h. Column-major, 32-bit
 * integers. */
#ifndef BRAMAH_LIB_LINALG_LAPACK_H
#define BRAMAH_LIB_LINALG_LAPACK_H

extern void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                   const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
                   const double *beta, double *c, const int *ldc);
extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
extern void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
                    const int *pivot, double *b, const int *ldb, int *info);
extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
extern void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
                    double *b, const int *ldb, int *info);
extern void dgelss_(const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b,
                    const int *ldb, double *s, const double *rcond, int *rank, double *work, const int *lwork,
                    int *info);
extern void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
                   double *work, const int *lwork, int *info);

#endif
