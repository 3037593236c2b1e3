package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"
)

// handshakeForm is the form of the first line that a plugin prints.
const handshakeForm = "1|VERSION|unix|SOCKET|grpc"

// maxQuote bounds the part of a plugin's output that an error repeats, in bytes.
const maxQuote = 200

// handshakeError says why go-plugin must not see a first line.
type handshakeError struct {
	line   string
	reason string // empty: the line is no handshake
}

func (e *handshakeError) Error() string {
	if e.reason == "" {
		return fmt.Sprintf("its first line on standard output was %s, expected go-plugin's handshake (%s); "+
			"build the plugin with the toolhost sdk, and print nothing before it serves", quote(e.line), handshakeForm)
	}
	return fmt.Sprintf("its handshake %s is refused: %s", quote(e.line), e.reason)
}

// peerError says that another process than the plugin's listens on the socket that the plugin
// named.
type peerError struct{ peer, leader int }

func (e *peerError) Error() string {
	return fmt.Sprintf("its socket is served by process %d, which is not of its process %d: the plugin itself must listen there", e.peer, e.leader)
}

// isRefusal reports whether toolhost refused the plugin. Otherwise the plugin failed.
func isRefusal(err error) bool {
	_, handshake := errors.AsType[*handshakeError](err)
	_, peer := errors.AsType[*peerError](err)
	return handshake || peer
}

// checkHandshake returns the socket's path if line is a handshake that toolhost accepts:
// go-plugin's core version, one of the contract versions, and gRPC without TLS on a unix socket
// directly in dir. go-plugin does not check the line, and a certificate in its sixth field would
// crash the host.
func checkHandshake(line, dir string, versions []int) (string, error) {
	line = strings.TrimSpace(line)
	fields := strings.Split(line, "|")
	core, err := strconv.Atoi(fields[0])
	if err != nil || len(fields) < 4 {
		return "", &handshakeError{line: line}
	}
	refuse := func(format string, args ...any) (string, error) {
		return "", &handshakeError{line: line, reason: fmt.Sprintf(format, args...)}
	}
	switch version, err := strconv.Atoi(fields[1]); {
	case core != goplugin.CoreProtocolVersion:
		return refuse("it is version %d of go-plugin's protocol, toolhost speaks %d", core, goplugin.CoreProtocolVersion)
	case err != nil || !slices.Contains(versions, version):
		return refuse("it speaks version %s of toolhost's contract, this toolhost knows %v; rebuild the plugin or upgrade toolhost", quote(fields[1]), versions)
	case len(fields) < 5 || fields[4] != string(goplugin.ProtocolGRPC):
		return refuse("the protocol must be grpc")
	case len(fields) > 6:
		return refuse("it has %d fields, at most 6 are known", len(fields))
	case len(fields) == 6 && fields[5] != "":
		return refuse("it brings a certificate, but the socket is protected by its folder; serve without TLS")
	case fields[2] != "unix":
		return refuse("the network must be unix, with the socket in the folder that PLUGIN_UNIX_SOCKET_DIR names")
	}
	if err := checkSocket(fields[3], dir); err != nil {
		return refuse("%v", err)
	}
	return fields[3], nil
}

func checkSocket(path, dir string) error {
	if filepath.Dir(path) != filepath.Clean(dir) || filepath.Clean(path) != path {
		return errors.New("the socket must be in the folder that PLUGIN_UNIX_SOCKET_DIR names")
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return fmt.Errorf("nothing listens there: %w", err)
	case info.Mode().Type() != os.ModeSocket:
		return errors.New("what is there is no socket")
	}
	return nil
}

// quote quotes plugin output, at most maxQuote bytes of it.
func quote(s string) string {
	if len(s) > maxQuote {
		return strconv.Quote(strings.ToValidUTF8(s[:maxQuote], "")) + "…"
	}
	return strconv.Quote(s)
}
