#!/bin/sh
# certificates.sh FOLDER [DAYS] makes the certificates and passwords of compose.yaml and kubernetes/,
# with openssl 3. FOLDER must not exist. Four CAs sign them: one for servers and clients, one each for
# the toolhosts and for the agentds among themselves, and one for the database. The keys of the CAs
# are not kept: to renew, make all of them again.
set -eu
folder=$1 days=${2:-365}
umask 077
mkdir "$folder"
cd "$folder"
new() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days "$days" "$@" 2>/dev/null; }

# ca NAME
ca() { new -subj "/CN=$1" -keyout "$1.key" -out "$1.crt"; }

# sign NAME CA NAMES USES: FOLDER/NAME gets tls.crt, tls.key and ca.crt. Users in containers read the
# files, and on this machine FOLDER keeps others away.
sign() {
	mkdir "$1"
	new -CA "$2.crt" -CAkey "$2.key" -subj "/CN=$1" -keyout "$1/tls.key" -out "$1/tls.crt" \
		-addext "subjectAltName=$3" -addext "extendedKeyUsage=$4" -addext basicConstraints=critical,CA:FALSE
	cp "$2.crt" "$1/ca.crt"
	chmod 0755 "$1"
	chmod 0644 "$1"/*
}

for name in clients nodes-ca agentd-nodes-ca database-ca; do ca $name; done
sign toolhost clients DNS:toolhost,DNS:localhost serverAuth
sign nodes nodes-ca 'DNS:*.toolhost-nodes' serverAuth,clientAuth
sign agentd clients DNS:agentd,DNS:localhost serverAuth,clientAuth
sign agentd-nodes agentd-nodes-ca DNS:agentd-nodes serverAuth,clientAuth
sign client clients DNS:runs.client clientAuth
sign database database-ca DNS:postgres serverAuth
rm ./*.key
mkdir authority
cp database-ca.crt authority/ca.crt # of the database, without its key
chmod 0755 authority
chmod 0644 authority/ca.crt

for name in POSTGRES TOOLHOST AGENTD; do
	echo "${name}_PASSWORD=$(openssl rand -hex 24)"
done >passwords.env
