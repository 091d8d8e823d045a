# SPDX-License-Identifier: BSD-2-Clause
"""The bill of materials of a release, as SPDX 2.3 in JSON: what the source contains, and what its programs link to.
Usage: sbom.py VERSION COMMIT SECONDS"""
import json
import sys
import time

# Name, version, licence, how gpume uses it, who links to it.
CONTAINED = [
    ("uPlot", "1.6.32", "MIT", "in the pages that the command writes"),
    ("Big Buck Bunny (excerpt)", None, "CC-BY-3.0", "samples/bunny.mp4 and pictures of the manual"),
]
LINKED = [
    ("Vulkan-Loader", "Apache-2.0", "libgpume"),
    ("FFmpeg", "LGPL-2.1-or-later OR GPL-2.0-or-later", "the command"),
    ("cairo", "LGPL-2.1-only OR MPL-1.1", "the command"),
    ("jansson", "MIT", "the command"),
    ("nettle", "LGPL-3.0-or-later OR GPL-2.0-or-later", "the command"),
    ("zlib", "Zlib", "the command"),
    ("zstd", "BSD-3-Clause OR GPL-2.0-only", "the command"),
]


def package(name, version, licence, comment):
    identity = "SPDXRef-" + "".join(c if c.isalnum() else "-" for c in name)
    found = {"SPDXID": identity, "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
             "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", "comment": comment}
    return found | ({"versionInfo": version} if version else {})


def document(version, commit, seconds):
    gpume = package("gpume", version, "BSD-2-Clause", "commit " + commit)
    contained = [package(*row) for row in CONTAINED]
    linked = [package(name, None, licence, "linked to by " + user) for name, licence, user in LINKED]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", gpume["SPDXID"])]
    relations += [(gpume["SPDXID"], "CONTAINS", other["SPDXID"]) for other in contained]
    relations += [(gpume["SPDXID"], "DYNAMIC_LINK", other["SPDXID"]) for other in linked]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "gpume-" + version,
        "documentNamespace": f"https://spdx.org/spdxdocs/gpume-{version}-{commit}",
        "creationInfo": {"creators": ["Organization: the gpume authors"],
                         "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))},
        "packages": [gpume, *contained, *linked],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }


json.dump(document(sys.argv[1], sys.argv[2], int(sys.argv[3])), sys.stdout, indent=2)
print()
