package postgres_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// Check accepts only URLs whose connections to other machines are encrypted, or not encrypted
// because the operator says so.
func TestCheck(t *testing.T) {
	t.Setenv("PGSSLMODE", "disable") // must not count
	ca := testca.New(t).Path
	for _, test := range []struct{ url, refused string }{
		{"postgres://ada@db.example:5432/runs", ""},
		{"postgresql://db.example/runs?sslmode=verify-full&sslrootcert=" + ca, ""},
		{"postgres://db.example/runs?sslmode=require", ""},
		{"postgres://db.example/runs?ssl=true", ""},
		{"postgres://db.example/runs?sslmode=disable", ""},
		{"postgres://one.example:5432,two.example:5433/runs", ""},
		{"postgres://db.example/runs?sslmode=prefer", "not always be encrypted"},
		{"postgres://db.example/runs?sslmode=allow", "not always be encrypted"},
		{"postgres://localhost,db.example/runs?sslmode=prefer", "at db.example"},
		{"postgres://db.example/runs?sslmode=verify-full&sslmode=disable", "not always be encrypted"},
		{"postgres://localhost/runs", ""},
		{"postgres://127.0.0.9/runs?sslmode=prefer", ""},
		{"postgres://[::1]:5433/runs", ""},
		{"postgres://ada@/runs?host=/run/postgresql", ""},
		{"postgres://db.example/runs?sslmode=nonsense", "sslmode is invalid"},
		{"postgres://db.example/runs?sslrootcert=/nowhere/ca.pem", "unable to read CA file"},
		{"postgres://db.example", "names no database"},
		{"postgres://db.example:port/runs", "write it as postgres://"},
		{"host=db.example dbname=runs", "write it as postgres://"},
		{"runs.db", "write it as postgres://"},
	} {
		err := postgres.Check(test.url)
		if (err == nil) != (test.refused == "") || err != nil && !strings.Contains(strings.ReplaceAll(err.Error(), "would not always", "not always"), test.refused) {
			t.Errorf("%s: %v; want %q", test.url, err, test.refused)
		}
	}
}

// No error and no name shows a password.
func TestPasswordsStaySecret(t *testing.T) {
	for address, has := range map[string]bool{
		"postgres://ada:s3same@db.example/runs":                      true,
		"postgres://ada:s3same@db.example/runs?sslmode=prefer":       true,
		"postgres://ada:s3same@db.example:port/runs":                 true,
		"postgres://ada:s3%zzsame@db.example/runs":                   true,
		"postgres://ada:s3same@db.example":                           true,
		"postgres://ada:s3same@db.example/runs?sslmode=s3same":       true,
		"postgres://ada:s3same@db.example/runs?s3same":               true,
		"postgres://ada:s3same@db.example/runs?sslrootcert=/nowhere": true,
		"postgres://ada@db.example/runs?password=s3same":             true,
		"postgres://ada@db.example/runs?sslpassword=s3same":          true,
		"postgres://ada@db.example:5432/runs?host=/a:b":              false,
		"postgres://db.example:5432/runs":                            false,
	} {
		if postgres.HasPassword(address) != has {
			t.Errorf("%s: HasPassword says %t", address, !has)
		}
		if name := postgres.Name(address); strings.Contains(name, "s3same") || !strings.HasPrefix(name, "postgres://") {
			t.Errorf("%s is shown as %s", address, name)
		}
		err := postgres.Check(address)
		for at := err; at != nil; at = errors.Unwrap(at) {
			// An invalid mode is repeated, and is no password.
			if strings.Contains(at.Error(), "s3same") && !strings.Contains(address, "sslmode=s3same") {
				t.Errorf("%s: %v", address, at)
			}
		}
	}
	if name := postgres.Name("postgres://ada:s3same@one.example,two.example:99/runs"); name != "postgres://ada@one.example:5432,two.example:99/runs" {
		t.Error(name)
	}
}

// A server that accepts connections and never answers does not block Open.
func TestSilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, err = postgres.Open(t.Context(), postgres.Config{URL: "postgres://ada:s3same@" + listener.Addr().String() + "/runs", ConnectTimeout: 50 * time.Millisecond})
	if !errors.Is(err, postgres.ErrUnavailable) || strings.Contains(err.Error(), "s3same") || postgres.MayHaveRun(err) {
		t.Error(err)
	}
}
