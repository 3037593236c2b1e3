// Package deploy has what operators load into Grafana, Prometheus, Kubernetes and Compose, and the
// tests of these files. It is a separate Go module, because its tests use the parsers of these
// programs, which ours do not need.
package deploy
