package dashboards

import (
	"encoding/json"
	"fmt"
)

// schemaVersion is the version of Grafana's dashboard schema that the files have: that of Grafana
// 10.4. Newer versions of Grafana read it and convert it.
const schemaVersion = 39

// columns is the width of a dashboard in Grafana's grid.
const columns = 24

// Dashboard is one dashboard.
type Dashboard struct {
	// UID identifies the dashboard in Grafana, in links and when it is imported again. It is also
	// the name of the file.
	UID, Title, Description string
	Variables               []Variable
	Rows                    []Row
}

// Variable is a choice at the top of a dashboard. Its values are those of one label of one metric.
type Variable struct {
	Name, Metric, Label string
	// Selector restricts the series whose values are offered, such as `instance=~"$instance"`.
	Selector string
	// Single allows one value only. Otherwise the reader can choose several values or all.
	Single bool
}

// Row is a titled group of panels.
type Row struct {
	Title  string
	Panels []Panel
}

// Panel is one diagram. Its width is in columns of Grafana's grid.
type Panel struct {
	Title, Description string
	Kind               Kind
	Unit               Unit
	Width              int
	Queries            []Query
}

// Query is a PromQL expression with the legend of its series.
type Query struct{ Expr, Legend string }

// Kind is the kind of a diagram.
type Kind string

// The kinds.
const (
	Lines   Kind = "timeseries"
	Number  Kind = "stat"
	Listing Kind = "table"
)

// Unit is the unit of the values of a panel, in Grafana's words.
type Unit string

// The units. A number per second has the unit PerSecond.
const (
	Count     Unit = "short"
	PerSecond Unit = "ops"
	Seconds   Unit = "s"
	Bytes     Unit = "bytes"
	Share     Unit = "percentunit"
	DateTime  Unit = "dateTimeFromNow"
)

// All returns the dashboards.
func All() []Dashboard { return []Dashboard{overview(), plugin(), agentRuns(), process()} }

// height is the height of a panel in Grafana's grid.
func (k Kind) height() int {
	if k == Number {
		return 4
	}
	return 8
}

// object is a JSON object. Grafana's objects have many keys, most of which have defaults. The maps
// contain only those that the dashboards set. encoding/json writes the keys in order.
type object = map[string]any

// JSON renders the dashboard as Grafana imports it.
func (d *Dashboard) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(object{
		"uid": d.UID, "title": d.Title, "description": d.Description, "tags": []string{"toolhost"}, "schemaVersion": schemaVersion,
		"version": 1, "editable": true, "graphTooltip": 1, "refresh": "30s", "timezone": "browser", "time": object{"from": "now-6h", "to": "now"},
		"templating": object{"list": d.variables()}, "panels": d.panels(), "annotations": object{"list": []object{alerts()}},
		"links": []object{{"type": "dashboards", "title": "toolhost", "tags": []string{"toolhost"}, "asDropdown": true, "keepTime": true, "includeVars": true}},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("rendering the dashboard %s: %w", d.UID, err)
	}
	return append(text, '\n'), nil
}

// source is the data source of every query: the Prometheus that the reader chooses.
func source() object { return object{"type": "prometheus", "uid": "${datasource}"} }

// alerts returns the annotation that marks firing alerts in every diagram.
func alerts() object {
	return object{
		"name": "alerts", "datasource": source(), "enable": true, "iconColor": "red", "titleFormat": "{{alertname}}", "textFormat": "{{plugin}} {{tool}}",
		"expr": `ALERTS{alertname=~"Toolhost.*|Agentd.*", alertstate="firing"}`,
	}
}

func (d *Dashboard) variables() []object {
	list := []object{{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "current": object{}}}
	for _, v := range d.Variables {
		query := fmt.Sprintf("label_values(%s{%s}, %s)", v.Metric, v.Selector, v.Label)
		variable := object{
			"name": v.Name, "label": v.Name, "type": "query", "datasource": source(), "definition": query, "query": object{"query": query, "refId": v.Name},
			"refresh": 2, "sort": 1, "multi": !v.Single, "includeAll": !v.Single, "current": object{},
		}
		if !v.Single {
			variable["current"] = object{"text": []string{"All"}, "value": []string{"$__all"}}
		}
		list = append(list, variable)
	}
	return list
}

// panels returns the panels of all rows with their places: from left to right, and then below.
func (d *Dashboard) panels() []object {
	var list []object
	y := 0
	place := func(x, width, height int) object { return object{"x": x, "y": y, "w": width, "h": height} }
	for _, row := range d.Rows {
		list = append(list, object{"id": len(list) + 1, "type": "row", "title": row.Title, "collapsed": false, "panels": []object{}, "gridPos": place(0, columns, 1)})
		y++
		x, height := 0, 0
		for _, p := range row.Panels {
			if x+p.Width > columns {
				x, y, height = 0, y+height, 0
			}
			list = append(list, p.object(len(list)+1, place(x, p.Width, p.Kind.height())))
			x, height = x+p.Width, max(height, p.Kind.height())
		}
		y += height
	}
	return list
}

func (p *Panel) object(id int, place object) object {
	var targets []object
	for i, q := range p.Queries {
		target := object{"refId": string(rune('A' + i)), "datasource": source(), "expr": q.Expr, "legendFormat": q.Legend}
		if p.Kind == Listing {
			target["format"], target["instant"] = "table", true
		}
		targets = append(targets, target)
	}
	defaults := object{"unit": p.Unit, "min": 0}
	if p.Kind == Lines {
		defaults["custom"] = object{"showPoints": "never", "fillOpacity": 10, "spanNulls": false}
	}
	return object{
		"id": id, "type": p.Kind, "title": p.Title, "description": p.Description, "datasource": source(), "gridPos": place, "targets": targets,
		"fieldConfig": object{"defaults": defaults, "overrides": []object{}}, "options": p.Kind.options(),
	}
}

func (k Kind) options() object {
	switch k {
	case Number:
		return object{"reduceOptions": object{"calcs": []string{"lastNotNull"}}, "colorMode": "none", "graphMode": "area"}
	case Listing:
		return object{"showHeader": true}
	default:
		return object{"legend": object{"displayMode": "table", "placement": "bottom", "calcs": []string{"lastNotNull", "max"}}, "tooltip": object{"mode": "multi", "sort": "desc"}}
	}
}
