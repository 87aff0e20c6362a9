/* SPDX-License-Identifier: MIT */
/* The few Fortran routines that spectral.c calls (dgemm: test/bench); Debian's serial OpenBLAS ships no lapacke.h. Column-major, 32-bit
 * integers. */
#ifndef BRAMAH_LIB_MATH_LAPACK_H
#define BRAMAH_LIB_MATH_LAPACK_H

extern void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                   const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
                   const double *beta, double *c, const int *ldc);
extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
extern void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
                    const int *pivot, double *b, const int *ldb, int *info);
extern void dgebal_(const char *job, const int *n, double *a, const int *lda, int *low, int *high,
                    double *scale, int *info);
extern void dgeevx_(const char *balanc, const char *jobvl, const char *jobvr, const char *sense, const int *n,
                    double *a, const int *lda, double *wr, double *wi, double *vl, const int *ldvl,
                    double *vr, const int *ldvr, int *low, int *high, double *scale, double *abnrm,
                    double *rconde, double *rcondv, double *work, const int *lwork, int *iwork, int *info);
extern void dsygv_(const int *itype, const char *jobz, const char *uplo, const int *n, double *a,
                   const int *lda, double *b, const int *ldb, double *w, double *work, const int *lwork,
                   int *info);
extern void dgees_(const char *jobvs, const char *sort, int (*select)(const double *, const double *),
                   const int *n, double *a, const int *lda, int *sdim, double *wr, double *wi, double *vs,
                   const int *ldvs, double *work, const int *lwork, int *bwork, int *info);
extern void zgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *pivot, double *b,
                   const int *ldb, int *info);
extern void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau,
                    double *work, const int *lwork, int *info);
extern void dtrtrs_(const char *uplo, const char *trans, const char *diag, const int *n, const int *nrhs,
                    const double *a, const int *lda, double *b, const int *ldb, int *info);
extern void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
                    double *work, const int *lwork, int *info);

#endif
