#!/usr/bin/env bash
# All commands of the documents, also those that take more than a second.
exec bash "$HALOSWEEP_SOURCE/tests/docs/commands.sh" long
