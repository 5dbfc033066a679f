# What mlr (the elder of mlr3) writes: Rscript tests/foreign/make/mlr.R tests/foreign/files
# Debian: apt-get install --no-install-recommends r-cran-mlr (2.19.1 wrote the files beside this folder).
suppressPackageStartupMessages(library(mlr))
folder <- commandArgs(trailingOnly = TRUE)[1]
configureMlr(show.info = FALSE)

two <- iris[c(51:80, 101:130), c(1, 2, 5)]
two$Species <- droplevels(two$Species)
task <- makeClassifTask(data = two, target = "Species")
learner <- function(depth) makeLearner("classif.rpart", id = paste0("rpart.", depth), predict.type = "prob", maxdepth = depth, minsplit = 4)
set.seed(1)
runs <- benchmark(lapply(c(1, 2, 4), learner), task, makeResampleDesc("CV", iters = 5), keep.pred = TRUE)
write.csv(getBMRPredictions(runs, as.df = TRUE), file.path(folder, "mlr-classes.csv"), row.names = FALSE)

set.seed(2)
runs <- benchmark(lapply(c(1, 2, 4), learner), task, makeResampleDesc("RepCV", folds = 5, reps = 2), keep.pred = TRUE)
write.csv(getBMRPredictions(runs, as.df = TRUE), file.path(folder, "mlr-repeats.csv"), row.names = FALSE)
