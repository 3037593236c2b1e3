package dashboards

import "fmt"

// lines returns a panel with one diagram of lines.
func lines(title string, unit Unit, width int, description string, queries ...Query) Panel {
	return Panel{Title: title, Kind: Lines, Unit: unit, Width: width, Description: description, Queries: queries}
}

// number returns a panel with the present value of one query.
func number(title string, unit Unit, description, expr string) Panel {
	return Panel{Title: title, Kind: Number, Unit: unit, Width: 4, Description: description, Queries: []Query{{Expr: expr}}}
}

// rate returns the increase per second of a counter, summed by labels.
func rate(counter, by string) string {
	return fmt.Sprintf("sum by (%s) (rate(%s[$__rate_interval]))", by, counter)
}

// quantiles returns queries for the median and the 95th and 99th percentile of a histogram. by may
// be empty.
func quantiles(metric, selector, by string) []Query {
	var queries []Query
	for _, q := range []struct{ value, name string }{{"0.5", "median"}, {"0.95", "95 %"}, {"0.99", "99 %"}} {
		queries = append(queries, quantile(metric, selector, q.value, q.name, by))
	}
	return queries
}

// quantile returns a query for one quantile of a histogram.
func quantile(metric, selector, value, name, by string) Query {
	buckets, legend := "le", name
	if by != "" {
		buckets, legend = "le, "+by, name+" {{"+by+"}}"
	}
	return Query{fmt.Sprintf("histogram_quantile(%s, %s)", value, rate(metric+"_bucket{"+selector+"}", buckets)), legend}
}
