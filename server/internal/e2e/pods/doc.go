// Package pods runs the commands of deploy/kubernetes as Kubernetes does: with their user, their
// mounts and their security context, and with the certificates of deploy/certificates.sh. Its tests
// need root, PostgreSQL and openssl.
package pods
