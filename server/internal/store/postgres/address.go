package postgres

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// IsURL reports whether a text is the address of a PostgreSQL database and not the name of a file.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// otherForm finds what is written for a database and not for a file, and is no URL: the keywords of
// libpq (host=… dbname=…) and of Npgsql (Host=…;Database=…), at the beginning a driver
// (postgres:DATABASE, jdbc:postgresql:DATABASE, PG:dbname=…), or a host with a port
// (db.example:5432/DATABASE).
var otherForm = regexp.MustCompile(`(?i)^\s*(?:(?:host|hostaddr|server|data source|port|dbname|database|user|username|user id|uid|password|passfile|pwd|service|servicefile|sslmode|ssl mode|application_name|connect_timeout|target_session_attrs|options)\s*=` +
	`|(?:jdbc:)?(?:postgres|postgresql|pgsql|pg):|[^/\s]+:\d+/)`)

// otherDatabase finds files that are written as the URL of another database or of a file.
var otherDatabase = regexp.MustCompile(`(?i)^\s*(?:sqlite|sqlite3|file|mysql|mariadb|mongodb):`)

// CheckFile returns an error if a text is to be the name of a file and looks like the address of a
// database in another form than a URL. The error does not repeat the text, which may have a
// password.
func CheckFile(text string) error {
	switch {
	case otherForm.MatchString(text):
		return errors.New("it looks like the address of a database, and a database is written as a URL: postgres://USER@HOST:PORT/DATABASE or " +
			"postgres://USER@/DATABASE?host=FOLDER_OF_THE_SOCKET, with other keywords after the question mark; write a file of this name as ./NAME")
	case otherDatabase.MatchString(text):
		return errors.New("write the path of a file without a scheme, or the URL of a PostgreSQL database")
	}
	return nil
}

// HasPassword reports whether a URL contains a password.
func HasPassword(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	authority, _, _ := strings.Cut(rest, "/")
	if user, _, found := strings.Cut(authority, "@"); found && strings.Contains(user, ":") {
		return true
	}
	query := queryOf(address)
	return query.Has("password") || query.Has("sslpassword")
}

// Check returns an error if a URL is not the address of a database that Open would connect to. No
// error contains a password. Check connects to nothing.
//
// A connection to another machine is encrypted, and the server has to prove its name
// (sslmode=verify-full), unless the URL has another sslmode. Check refuses the modes allow and
// prefer for other machines, because they silently continue without encryption. sslmode=disable is
// accepted, because the operator has then decided it. Unix sockets and loopback addresses need no
// encryption.
func Check(address string) error {
	_, err := parse(address)
	return err
}

// CheckPublic is Check for a URL that others may read, such as on a command line or in a
// configuration file. It also refuses a password.
func CheckPublic(address string) error {
	if HasPassword(address) {
		return errors.New("the URL has a password, which others may read; put it into the variable PGPASSWORD, or into a file that the URL names with passfile=FILE")
	}
	return Check(address)
}

// Name returns a URL without passwords, for messages, or a fixed text if it is not a valid one.
func Name(address string) string {
	settings, err := parse(address)
	if err != nil {
		return "postgres://…"
	}
	return nameOf(settings.ConnConfig)
}

// errURL says what a URL has to look like. It does not repeat the URL, which may have a password.
var errURL = errors.New("the address of the database is not valid; write it as postgres://USER@HOST:PORT/DATABASE or postgres://USER@/DATABASE?host=FOLDER_OF_THE_SOCKET")

func parse(address string) (*pgxpool.Config, error) {
	if !IsURL(address) {
		return nil, errURL
	}
	query := queryOf(address)
	mode := query.Get("sslmode")
	settings, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, parseError(err)
	}
	remote := slices.ContainsFunc(hosts(settings.ConnConfig), func(h endpoint) bool { return !isLocal(h.host) })
	if mode == "" && !query.Has("ssl") {
		// An environment with PGSSLMODE must not weaken the connection either.
		usual := "disable"
		if remote {
			usual = "verify-full"
		}
		if settings, err = pgxpool.ParseConfig(withParameter(address, "sslmode", usual)); err != nil {
			return nil, parseError(err)
		}
	}
	for _, h := range hosts(settings.ConnConfig) {
		if !h.encrypted && mode != "disable" && !isLocal(h.host) {
			return nil, fmt.Errorf("the connection to the database at %s would not always be encrypted with sslmode=%s; use sslmode=verify-full, or sslmode=disable if the network is trusted", h.host, mode)
		}
	}
	if settings.ConnConfig.Database == "" {
		return nil, fmt.Errorf("the address of the database names no database; write it as postgres://USER@HOST:PORT/DATABASE")
	}
	return settings, nil
}

// parseError returns an error of the driver without the URL, which the driver repeats. The reason
// is kept only where it names files and modes and no part of the URL.
func parseError(err error) error {
	for _, harmless := range []string{"unable to read CA file", "unable to add CA", "unable to read sslkey", "unable to read cert", "unable to load cert", "sslmode is invalid", `both "sslcert"`} {
		if _, reason, found := strings.Cut(err.Error(), "("+harmless); found {
			return fmt.Errorf("the address of the database is not valid: %s%s", harmless, strings.TrimSuffix(reason, ")"))
		}
	}
	return errURL
}

// endpoint is one host of a URL and whether the connection to it is encrypted.
type endpoint struct {
	host      string
	port      uint16
	encrypted bool
}

// hosts returns what the driver would connect to, in its order.
func hosts(c *pgx.ConnConfig) []endpoint {
	all := []endpoint{{c.Host, c.Port, c.TLSConfig != nil}}
	for _, f := range c.Fallbacks {
		all = append(all, endpoint{f.Host, f.Port, f.TLSConfig != nil})
	}
	return all
}

// isLocal reports whether a host is a folder with a unix socket or a loopback address.
func isLocal(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// queryOf returns the parameters of a URL. The driver allows several hosts with ports, so url.Parse
// would refuse URLs that the driver accepts.
func queryOf(address string) url.Values {
	_, query, _ := strings.Cut(address, "?")
	values, _ := url.ParseQuery(query) // the driver complains about others
	return values
}

func withParameter(address, name, value string) string {
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + name + "=" + value
}

// nameOf returns the address of a database without secrets.
func nameOf(c *pgx.ConnConfig) string {
	var where []string
	for _, h := range hosts(c) {
		if name := net.JoinHostPort(h.host, strconv.Itoa(int(h.port))); !slices.Contains(where, name) {
			where = append(where, name)
		}
	}
	return fmt.Sprintf("postgres://%s@%s/%s", c.User, strings.Join(where, ","), c.Database)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }
