package yamldoc_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

type house struct {
	Lamp  lamp            `yaml:"lamp" restart:"true"`
	Rooms map[string]lamp `yaml:"rooms"`
	Doors []door          `yaml:"doors"`
	Keys  []key           `yaml:"keys"`
}

type lamp struct {
	Watts int               `yaml:"watts" default:"60"`
	Color string            `yaml:"color" unset:"white"`
	Env   map[string]string `yaml:"env" private:"true"`
}

type door struct {
	Name  string   `yaml:"name" required:"true"`
	Open  bool     `yaml:"open"`
	Locks *int     `yaml:"locks" unset:"as the house"`
	Marks []string `yaml:"marks" unset:"none"`
}

type key struct {
	Fits  []string          `yaml:"fits"`
	Notes map[string]string `yaml:"notes"`
}

func readHouse(t *testing.T, text string) (h house) {
	t.Helper()
	yamldoc.Fill(reflect.ValueOf(&h).Elem())
	d := yamldoc.NewDecoder("f.yaml")
	d.New = func(of reflect.Type) (start reflect.Value) {
		if of == reflect.TypeFor[lamp]() {
			start = reflect.ValueOf(lamp{Watts: h.Lamp.Watts, Color: h.Lamp.Color})
		}
		return start
	}
	if d.Decode([]byte(text), reflect.ValueOf(&h).Elem()); len(d.Errs) > 0 {
		t.Fatal(d.Errs)
	}
	return h
}

func TestDiff(t *testing.T) {
	for name, c := range map[string]struct {
		before, now string
		want        []yamldoc.Change
	}{
		"nothing": {"rooms: {hall: {}}", "rooms: {hall: {watts: 60}}", nil},
		"a value that entries inherit": {"rooms: {hall: {}, bath: {watts: 5}}", "lamp: {watts: 70}\nrooms: {hall: {}, bath: {watts: 5}}", []yamldoc.Change{
			{Key: "lamp.watts", Old: "60", New: "70", Restart: true},
		}},
		"an entry that inherits no more": {"rooms: {hall: {}}", "rooms: {hall: {watts: 7}}", []yamldoc.Change{
			{Key: "rooms.hall.watts", Old: "60", New: "7"},
		}},
		"entries that come and go": {"rooms: {hall: {color: red}}", "rooms: {'b a': {watts: 7}}", []yamldoc.Change{
			{Key: `rooms."b a".watts`, Old: "60", New: "7"},
			{Key: "rooms.hall.color", Old: `"red"`},
		}},
		"an optional value that is zero": {"doors: [{name: a}]", "doors: [{name: a, locks: 0}]", []yamldoc.Change{
			{Key: "doors[a].locks", New: "0"},
		}},
		"an empty list instead of none": {"doors: [{name: a}]", "doors: [{name: a, marks: []}]", []yamldoc.Change{
			{Key: "doors[a].marks", New: "[]"},
		}},
		"secrets": {"lamp: {env: {A: one, B: two}}", "lamp: {env: {A: three, C: two}}", []yamldoc.Change{
			{Key: "lamp.env.A", Old: "(hidden)", New: "(hidden)", Restart: true},
			{Key: "lamp.env.B", Old: "(hidden)", Restart: true},
			{Key: "lamp.env.C", New: "(hidden)", Restart: true},
		}},
		"elements with names": {"doors: [{name: a}, {name: b, open: true}, {name: c}]", "doors: [{name: b}, {name: d, open: false}, {name: a}]", []yamldoc.Change{
			{Key: "doors[b].open", Old: "true", New: "false"},
			{Key: "doors[c].name", Old: `"c"`},
			{Key: "doors[c].open", Old: "false"},
			{Key: "doors[d].name", New: `"d"`},
			{Key: "doors[d].open", New: "false"},
			{Key: "doors", Old: "the order a, b, c", New: "the order b, d, a"},
		}},
		"a name twice": {"doors: [{name: a}]", "doors: [{name: a}, {name: a, open: true}]", []yamldoc.Change{
			{Key: `doors["a 2"].name`, New: `"a"`},
			{Key: `doors["a 2"].open`, New: "true"},
		}},
		"elements without names": {"keys: [{fits: [a, b]}, {notes: {x: 'y z'}}]", "keys: [{notes: {x: 'y z'}}, {fits: [a]}]", []yamldoc.Change{
			{Key: "keys", Old: "{fits: [a, b]}"},
			{Key: "keys", New: "{fits: [a]}"},
		}},
		"their order": {"keys: [{fits: [a]}, {fits: [b]}]", "keys: [{fits: [b]}, {fits: [a]}]", []yamldoc.Change{
			{Key: "keys", Old: "the order {fits: [a]}, {fits: [b]}", New: "the order {fits: [b]}, {fits: [a]}"},
		}},
	} {
		before, now := readHouse(t, c.before), readHouse(t, c.now)
		bases := func(h house) yamldoc.Bases {
			return yamldoc.Bases{reflect.TypeFor[lamp](): reflect.ValueOf(lamp{Watts: h.Lamp.Watts, Color: h.Lamp.Color})}
		}
		got := yamldoc.Diff(reflect.ValueOf(before), reflect.ValueOf(now), bases(before), bases(now))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		yamldoc.KeepRestart(reflect.ValueOf(before), reflect.ValueOf(&now).Elem())
		for _, change := range yamldoc.Diff(reflect.ValueOf(before), reflect.ValueOf(now), bases(before), bases(now)) {
			if change.Restart {
				t.Errorf("%s: %+v is left after KeepRestart", name, change)
			}
		}
	}
}
