package agenttelemetry_test

import (
	"flag"
	"testing"

	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
)

var update = flag.Bool("update", false, "write the listing of the metrics")

// The file lists all metrics with their labels. Queries of the dashboards and alert rules may use
// only these, and gRPC's metrics, which the listing of toolhost has.
func TestMetricsAreListed(t *testing.T) {
	tele, o := open(t, telemetryconfig.Settings{Listen: "127.0.0.1:0", Endpoint: telemetrytest.Start(t).Endpoint})
	reportEverything(o)
	telemetrytest.CompareListing(t, "../../../../deploy/metrics/agentd.txt", read(t, tele), *update)
}
