// Package monitoring tests the files in deploy with a real Prometheus, which reads the metrics of a
// real toolhost and agentd. The tests cause each failure that has an alert, and repair it. The
// alert fires and resolves. Each query of each dashboard has an answer.
//
// The tests change only the times and thresholds of the rules: a rule that looks back for ten
// minutes looks back for ten seconds. promtool tests the rules as they are.
package monitoring
