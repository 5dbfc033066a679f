# Fold scores as R writes them: Rscript tests/foreign/make/fold_scores.R tests/foreign/files
# Debian: apt-get install --no-install-recommends r-cran-caret r-cran-mlr (6.0-93 and 2.19.1 wrote the files).
suppressPackageStartupMessages({library(caret); library(mlr)})
folder <- commandArgs(trailingOnly = TRUE)[1]
configureMlr(show.info = FALSE)

two <- iris[c(51:80, 101:130), c(1, 2, 5)]
two$Species <- droplevels(two$Species)

# caret keeps the folds of every candidate if asked; row names and commas as write.csv and write.csv2 have them.
set.seed(1)
control <- trainControl("cv", number = 5, returnResamp = "all", classProbs = TRUE)
fitted <- caret::train(Species ~ ., two, method = "knn", tuneGrid = data.frame(k = c(1, 3, 5, 9)), trControl = control)
write.csv(fitted$resample, file.path(folder, "caret-resample.csv"))
write.csv2(fitted$resample, file.path(folder, "caret-resample-2.csv"))

set.seed(2)
control <- trainControl("repeatedcv", number = 5, repeats = 2, returnResamp = "all")
fitted <- caret::train(mpg ~ wt + hp + disp, mtcars, method = "knn", tuneGrid = data.frame(k = c(1, 3, 5, 9)), trControl = control)
write.csv(fitted$resample, file.path(folder, "caret-resample-repeats.csv"), row.names = FALSE)

# caret's default keeps the folds of the final model only, which says nothing of the selection.
set.seed(1)
fitted <- caret::train(Species ~ ., two, method = "knn", tuneGrid = data.frame(k = c(1, 3, 5, 9)), trControl = trainControl("cv", number = 5))
write.csv(fitted$resample, file.path(folder, "caret-resample-final.csv"), row.names = FALSE)

task <- makeClassifTask(data = two, target = "Species")
learner <- function(depth) makeLearner("classif.rpart", id = paste0("rpart.", depth), maxdepth = depth, minsplit = 4)
set.seed(3)
runs <- benchmark(lapply(c(1, 2, 4), learner), task, makeResampleDesc("CV", iters = 5), measures = list(mmce, acc))
write.csv(getBMRPerformances(runs, as.df = TRUE), file.path(folder, "mlr-performances.csv"), row.names = FALSE)
