package sandbox

// systemFolders hold the system's programs and libraries. All users can read them, and so can
// plugins.
var systemFolders = [...]string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/nix/store", "/gnu/store", // where the system has all of them
}

// systemFiles are the parts of /etc that programs need and that hold no secret. Plugins do not see
// private keys in /etc/ssl or passwords in /etc/shadow.
var systemFiles = [...]string{
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path",
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem",
	"/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates/extracted", "/etc/crypto-policies",
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
	"/etc/passwd", "/etc/group", "/etc/localtime", "/etc/timezone", "/etc/os-release", "/etc/alternatives", "/etc/mime.types",
	"/etc/fonts", "/etc/terminfo",
}

// systemPatterns are further parts of /etc whose names contain versions: Debian links the JDK's
// settings to them.
var systemPatterns = [...]string{"/etc/java-*"}

// devices are the special files that programs expect. None of them gives access to another process
// or a disk.
var devices = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// deviceLinks are the names in /dev by which a process finds its own files.
var deviceLinks = map[string]string{
	"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1", "/dev/stderr": "/proc/self/fd/2",
}

// maskedProc are files of /proc that tell about the machine. Most can only be read by root, for
// which root needs no capability.
var maskedProc = [...]string{
	"/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup",
	"/proc/slabinfo", "/proc/vmallocinfo", "/proc/pagetypeinfo", "/proc/sched_debug", "/proc/latency_stats",
	// The kernel command line: boot loaders and managers of virtual machines put addresses and keys
	// there.
	"/proc/cmdline", "/proc/bootconfig",
}

// maskedSystem are folders among the system's that hold settings of this machine and no programs.
var maskedSystem = [...]string{"/usr/local/etc"}
