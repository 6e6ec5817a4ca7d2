/* cuDSS as found at run time: the few of its functions and numbers that cudss.c uses, of versions
 * 0.7 to 1.x. Their facts are those of the headers of 0.7.1, 0.8.0 and 1.0.0; none is needed to
 * build. */
#ifndef CUDA_CUDSS_OPEN_H
#define CUDA_CUDSS_OPEN_H

#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stdint.h>

#include "status.h"

/* What the library hands out, and only it can look into. */
typedef struct cudss_handle cudss_handle;
typedef struct cudss_config cudss_config;
typedef struct cudss_data cudss_data;
typedef struct cudss_matrix cudss_matrix;

enum { CUDSS_ANSWER_OK = 0, CUDSS_ANSWER_NO_MEMORY = 2 };
enum { CUDSS_ANALYSE = 3, CUDSS_FACTORISE = 4, CUDSS_SOLVE = 1008 };
enum { CUDSS_GENERAL = 0, CUDSS_SYMMETRIC = 1 };
enum { CUDSS_WHOLE = 0, CUDSS_LOWER = 1 };
enum { CUDSS_FROM_ZERO = 0, CUDSS_BY_COLUMNS = 0 };
enum { CUDSS_SET_MATCHING = 3 };
/* What can be asked of a factorisation: an int, an index. */
enum { CUDSS_ASK_INFO = 0, CUDSS_ASK_REPLACED = 2 };
/* And the memory it will take, bytes: the second number is the most that the device holds. */
enum { CUDSS_MEMORY_NUMBERS = 16, CUDSS_MEMORY_MOST = 1 };

typedef int cudss_create_csr(cudss_matrix **out, int64_t rows, int64_t columns, int64_t entries,
                             const void *offset, const void *row_end, const void *column,
                             const void *value, cudaDataType_t offsets, cudaDataType_t indices,
                             cudaDataType_t values, int kind, int part, int base);
/* The same before 0.8: one type for offsets and indices. */
typedef int cudss_create_csr_7(cudss_matrix **out, int64_t rows, int64_t columns, int64_t entries,
                               const void *offset, const void *row_end, const void *column,
                               const void *value, cudaDataType_t indices, cudaDataType_t values,
                               int kind, int part, int base);

typedef struct cudss {
  int (*property)(libraryPropertyType, int *);
  int (*create)(cudss_handle **);
  int (*destroy)(cudss_handle *);
  int (*set_stream)(cudss_handle *, cudaStream_t);
  int (*config_create)(cudss_config **);
  int (*config_destroy)(cudss_config *);
  int (*config_set)(cudss_config *, int what, const void *value, size_t bytes);
  int (*data_create)(cudss_handle *, cudss_data **);
  int (*data_destroy)(cudss_handle *, cudss_data *);
  int (*data_get)(cudss_handle *, cudss_data *, int what, void *out, size_t bytes, size_t *written);
  cudss_create_csr *create_csr; /* of versions from 0.8 on */
  cudss_create_csr_7 *create_csr_7;
  int (*create_dense)(cudss_matrix **out, int64_t rows, int64_t columns, int64_t leading,
                      const void *value, cudaDataType_t type, int layout);
  int (*matrix_destroy)(cudss_matrix *);
  int (*execute)(cudss_handle *, int phase, cudss_config *, cudss_data *, cudss_matrix *a,
                 cudss_matrix *x, cudss_matrix *b);
  int major, minor, patch;
  int ask_memory;    /* the number of that question */
  int matching_auto; /* what turns matching on; 0: it is on by itself */
} cudss;

/* Opens the library; it stays open until the process ends. STATUS_UNAVAILABLE says what to install.
 */
status cudss_open(cudss *out);

#endif
