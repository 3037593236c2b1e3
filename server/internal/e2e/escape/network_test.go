//go:build linux && (amd64 || arm64)

package escape_test

import (
	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// network are attempts to reach an address.
func (h *toolhost) network() []attempt {
	dialing := func(name, network, address string, layers []string) attempt {
		return attempt{name: name, do: "dial", with: []string{network, address}, layers: layers}
	}
	return []attempt{
		dialing("service of the host", "tcp", h.tcp, byNetwork),
		dialing("service of the host by UDP", "udp", h.udp, byNetwork),
		dialing("the world by TCP", "tcp", "192.0.2.1:443", byNetwork),
		dialing("the world by UDP", "udp", "192.0.2.1:53", byNetwork),
		dialing("the world by IPv6", "tcp", "[2001:db8::1]:443", byNetwork),
		dialing("names", "udp", "127.0.0.53:53", byNetwork),
		dialing("service of a cloud", "tcp", "169.254.169.254:80", byNetwork),
		dialing("name of a host", "tcp", "example.org:80", byNetwork),
		// Names of sockets give no access to them.
		{name: "sockets of the machine", do: "read", with: []string{"/proc/net/unix"}, layers: byNetwork, note: "no network namespace", harmless: "Path", unless: h.socket},
	}
}

// sockets are attempts to reach other processes in ways that a grant of the network does not allow.
func (h *toolhost) sockets() []attempt {
	socket := func(name string, family, kind, protocol int) attempt {
		return calling(name, []string{sandbox.Syscalls}, unix.SYS_SOCKET, n(family), n(kind), n(protocol))
	}
	raw := socket("raw ICMP", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
	raw.layers = byRights
	return []attempt{
		{name: "abstract name", do: "dial", with: []string{"unix", h.abstract}, layers: []string{sandbox.Network, sandbox.Landlock}},
		{name: "service at a path", do: "dial", with: []string{"unix", h.path("outside/service.sock")}, layers: byMounts},
		{name: "API of toolhost", do: "dial", with: []string{"unix", h.socket}, layers: byMounts},
		{name: "socket of another plugin", do: "dial", with: []string{"unix", h.neighbourSocket}, layers: byMounts},
		{name: "folder of another plugin", do: "list", with: []string{h.neighbourTmp}, layers: byFiles},
		{name: "file of another plugin", do: "read", with: []string{h.neighbourTmp + "/note"}, layers: byFiles},
		socket("raw packets", unix.AF_PACKET, unix.SOCK_RAW, 0x0300),
		socket("virtual machines", unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		socket("messages of the kernel", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT),
		socket("audit of the kernel", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
		socket("lists of sockets", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG),
		socket("ciphers of the kernel", unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		socket("bluetooth", unix.AF_BLUETOOTH, unix.SOCK_RAW, 1),
		socket("keys of IPsec", unix.AF_KEY, unix.SOCK_RAW, 2),
		socket("express data path", unix.AF_XDP, unix.SOCK_RAW, 0),
		raw,
		{name: "settings of the network", do: "run", with: []string{"/bin/sh", "-c", "ip link set lo up"}, layers: byRights}, // which it is
	}
}
