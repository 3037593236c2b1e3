//go:build !race

package nearest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/nearest"
)

func TestNames(t *testing.T) {
	names := []string{"database_query", "database_connect_select", "read_file", "readFileLines", "write_file", "http-get", "tts", "search_flights", "get_user", "get_users_by_id", "rm"}
	for wrong, want := range map[string]string{
		"database.query":  "database_query",
		"databaseQuery":   "database_query",
		"DATABASE_QUERY":  "database_query",
		"database-query":  "database_query",
		"dtaabase_query":  "database_query",
		"query_database":  "database_query",
		"databse_query":   "database_query",
		"ReadFile":        "read_file",
		"raed_file":       "read_file",
		"read_file_lines": "readFileLines",
		"httpGet":         "http-get",
		"HTTPGet":         "http-get",
		"ttS":             "tts",
		"search_flight":   "search_flights",
		"get_users":       "get_user",
		"flights_search":  "search_flights",
		"get_user_by_id":  "get_users_by_id",
		"something_else":  "",
		"":                "",
		"_":               "",
		"xx":              "",
		"tool":            "",
		"database":        "",
	} {
		got := nearest.Names(wrong, names, 1)
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%q: got %q, want %q", wrong, got, want)
		}
	}
}

// TestMistakesAmongThousands checks that the right one of 1,500 names is found after each usual
// mistake, unless another name is as near.
func TestMistakesAmongThousands(t *testing.T) {
	verbs := strings.Fields("list get create update delete search export archive assign merge")
	things := strings.Fields("invoice customer dashboard pipeline repository channel deployment webhook attachment milestone")
	var names []string
	for i := range 15 {
		for _, verb := range verbs {
			for _, thing := range things {
				names = append(names, fmt.Sprintf("%s%c_%s_%s", []string{"acme", "globex", "initech"}[i%3], 'a'+rune(i), verb, thing))
			}
		}
	}
	mistakes := map[string]func(string) string{
		"dots":       func(s string) string { return strings.Replace(s, "_", ".", 1) },
		"dashes":     func(s string) string { return strings.ReplaceAll(s, "_", "-") },
		"another":    strings.ToUpper,
		"camel case": camel,
	}
	for mistake, make := range mistakes {
		for i := 0; i < len(names); i += 7 {
			name := names[i]
			if got := nearest.Names(make(name), names, 1); !slices.Equal(got, []string{name}) {
				t.Fatalf("%s: for %q %q was found", mistake, make(name), got)
			}
		}
	}
	random, found := rand.New(rand.NewPCG(1, 2)), 0
	tried := 0
	for i := 0; i < len(names); i += 3 {
		name := names[i]
		tried++
		at := 1 + random.IntN(len(name)-2)
		swapped := name[:at] + name[at+1:at+2] + name[at:at+1] + name[at+2:]
		if slices.Contains(nearest.Names(swapped, names, 3), name) {
			found++
		}
	}
	if found < tried*98/100 {
		t.Errorf("%d of %d names with two letters swapped were found", found, tried)
	}
}

func camel(name string) string {
	var b strings.Builder
	for i, word := range strings.Split(name, "_") {
		if i > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
	return b.String()
}

// FuzzDistance compares the distance computed near the diagonal with the distance by its
// definition.
func FuzzDistance(f *testing.F) {
	f.Add("database", "dtaabase", 2)
	f.Add("a", "", 0)
	f.Add("kitten", "sitting", 3)
	f.Fuzz(func(t *testing.T, one, other string, most int) {
		a, b := []rune(one), []rune(other)
		if len(a) > 40 || len(b) > 40 || most < 0 || most > 50 {
			return
		}
		want := min(slow(a, b), most+1)
		if got := nearest.Distance(a, b, most); got != want {
			t.Errorf("%q, %q within %d: got %d, want %d", one, other, most, got, want)
		}
	})
}

func slow(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+1)
			if a[i-1] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func BenchmarkNames(b *testing.B) {
	var names []string
	for i := range 10_000 {
		names = append(names, fmt.Sprintf("service%d_list_customers", i))
	}
	for b.Loop() {
		nearest.Names("service77.lsit_custmers", names, 3)
	}
}
