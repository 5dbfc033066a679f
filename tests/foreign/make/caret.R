# What caret writes: Rscript tests/foreign/make/caret.R tests/foreign/files
# Debian: apt-get install --no-install-recommends r-cran-caret (6.0-93 wrote the files beside this folder).
suppressPackageStartupMessages(library(caret))
folder <- commandArgs(trailingOnly = TRUE)[1]

two <- iris[c(51:80, 101:130), ]
two$Species <- droplevels(two$Species)
set.seed(1)
control <- trainControl("repeatedcv", number = 5, repeats = 2, savePredictions = "all", classProbs = TRUE)
fitted <- train(Species ~ Sepal.Length + Sepal.Width, two, method = "knn", tuneGrid = data.frame(k = c(1, 5, 9)), trControl = control)
write.csv(fitted$pred, file.path(folder, "caret-classes.csv"), row.names = FALSE)

set.seed(2)
control <- trainControl("cv", number = 5, savePredictions = "all")
fitted <- train(mpg ~ wt + hp + disp, mtcars, method = "knn", tuneGrid = data.frame(k = c(1, 3, 5, 9)), trControl = control)
write.csv(fitted$pred, file.path(folder, "caret-numbers.csv"), row.names = FALSE)
