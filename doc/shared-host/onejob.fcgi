#!/bin/sh
# In the web folder, which lies beside ~/onejob.
exec "$(dirname "$0")/../onejob/run" onejob-api
