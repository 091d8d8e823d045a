# SPDX-License-Identifier: BSD-2-Clause
# For tests that open a page: skips, or fails if GPUME_TEST_BROWSER is "required", where there is no Chromium, ChromeDriver or
# Selenium. $python is then a Python that has it.
missing=
have chromium || have chromium-browser || have google-chrome || missing=Chromium
have chromedriver || missing=${missing:-ChromeDriver}
python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$candidate" -c 'import selenium' 2>/dev/null; then python=$candidate; fi
done
[ -n "$python" ] || missing=${missing:-Selenium for Python}
if [ -n "$missing" ]; then
    [ "${GPUME_TEST_BROWSER:-}" != required ] || fail "$missing is not here, but GPUME_TEST_BROWSER requires it"
    skip "$missing is not here: the page is not opened"
fi
