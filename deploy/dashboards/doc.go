// Package dashboards defines the Grafana dashboards of toolhost and agentd.
//
// The files in deploy/grafana are what this package renders. A change begins here, and
//
//	go test ./dashboards -update
//
// in the folder deploy writes the files. A dashboard written by hand repeats the layout, the data
// source and the legends in each panel, and its copies differ after a while.
package dashboards
