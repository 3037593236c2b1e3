// Package deploy has what operators load into Grafana and Prometheus, and the tests of these files.
// It is a separate Go module, because its tests use Prometheus's parser, which the programs do not
// need.
package deploy
