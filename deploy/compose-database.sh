#!/bin/sh
# The image of PostgreSQL runs it once, with an empty folder of data: a role and a database for each
# program.
set -eu
for name in toolhost agentd; do
	case $name in
	toolhost) password=$TOOLHOST_PASSWORD ;;
	agentd) password=$AGENTD_PASSWORD ;;
	esac
	psql --username postgres --set ON_ERROR_STOP=1 --set "name=$name" --set "password=$password" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
SQL
done
