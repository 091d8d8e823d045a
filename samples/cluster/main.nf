// SPDX-License-Identifier: BSD-2-Clause
// Nextflow: nextflow run main.nf --input film.mkv --chunks 16. Every part is a folder in the work folder of its task, from
// which the merge takes them all; a task that fails is started anew.
process plan {
    input: path video
    output: path 'plan.txt'
    script: "gpume plan ${video} --chunks ${params.chunks} >plan.txt"
}

process part {
    errorStrategy 'retry'
    maxRetries 2
    input: tuple val(number), val(range), path(video)
    output: path "part-${number}"
    script: "gpume ${video} ${range} -o part-${number}"
}

process merge {
    publishDir '.'
    input: path parts
    output: path 'merged'
    script: "gpume merge ${parts} -o merged --whole"
}

workflow {
    video = file(params.input)
    ranges = plan(video).splitText().map { it.trim() }.toList().flatMap { it.withIndex().collect { r, i -> [i, r, video] } }
    merge(part(ranges).collect())
}
