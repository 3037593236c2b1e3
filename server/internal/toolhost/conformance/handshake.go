package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxSocketName bounds the length of a socket's name, by the contract.
const maxSocketName = 16

// problem is a violation, and the check that it belongs to.
type problem struct{ check, text string }

func problemf(check, format string, args ...any) problem {
	return problem{check, fmt.Sprintf(format, args...)}
}

// judgeHandshake returns the socket that the first line names, and the problems of the line. known
// are the versions of the contract that the plugin was offered and toolhost supports.
func judgeHandshake(line, dir string, known []int) (socket string, found []problem) {
	fields := strings.Split(strings.TrimSpace(line), "|")
	core, err := strconv.Atoi(fields[0])
	if err != nil || len(fields) < 2 {
		return "", []problem{problemf("start.handshake", "the first line on standard output is %s, which is no handshake", quote(line))}
	}
	if core != 1 || len(fields) < 5 || len(fields) > 6 || fields[2] != "unix" || fields[4] != "grpc" {
		return "", []problem{problemf("start.fields", "the handshake is %s, expected 1|VERSION|unix|SOCKET|grpc", quote(line))}
	}
	if version, err := strconv.Atoi(fields[1]); err != nil || !slices.Contains(known, version) {
		found = append(found, problemf("start.version", "the handshake names version %s of the contract; it was offered %s and can only take one that both know", quote(fields[1]), numbers(known)))
	} else if highest := slices.Max(known); version != highest {
		found = append(found, problemf("start.version", "the handshake names version %d, although both know %d", version, highest))
	}
	if len(fields) == 6 && fields[5] != "" {
		found = append(found, problemf("start.tls", "the handshake has a sixth field, a certificate"))
	}
	if words := judgeSocket(fields[3], dir); words != "" {
		found = append(found, problemf("start.socket", "%s", words))
	}
	return fields[3], found
}

// judgeSocket returns the problem of a socket's path, or "".
func judgeSocket(path, dir string) string {
	switch name := filepath.Base(path); {
	case filepath.Clean(path) != path || filepath.Dir(path) != filepath.Clean(dir):
		return fmt.Sprintf("the socket %s is not right in the folder that PLUGIN_UNIX_SOCKET_DIR names, %s", quote(path), dir)
	case len(name) > maxSocketName:
		return fmt.Sprintf("the socket's name %s has %d bytes, more than %d: where folders have long names, its path is too long for the kernel", quote(name), len(name), maxSocketName)
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return fmt.Sprintf("the handshake names the socket %s, and there is none", quote(path))
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Sprintf("what is at %s is no socket", quote(path))
	}
	return ""
}

func numbers(versions []int) string {
	words := make([]string, len(versions))
	for i, v := range versions {
		words[i] = strconv.Itoa(v)
	}
	return strings.Join(words, ", ")
}

// quote quotes text of a plugin, cut to a bounded length.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "…"
	}
	return strconv.Quote(s)
}
