/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listens on 127.0.0.1 on a port number that is free for both TCP and UDP and prints it. After the
 * end of standard input it prints how many connections and datagrams have arrived. Connections are
 * closed at once.
 */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES 100

static int open_pair(int *tcp, int *udp, unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *tcp = socket(AF_INET, SOCK_STREAM, 0);
    *udp = socket(AF_INET, SOCK_DGRAM, 0);
    if (*tcp < 0 || *udp < 0 || bind(*tcp, (struct sockaddr *)&address, bytes) != 0 ||
        getsockname(*tcp, (struct sockaddr *)&address, &bytes) != 0 ||
        bind(*udp, (struct sockaddr *)&address, bytes) != 0 || listen(*tcp, 16) != 0) {
        (void)close(*tcp);
        (void)close(*udp);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return 0;
}

int main(void)
{
    int tcp = -1, udp = -1, tries = 0;
    unsigned port = 0, seen = 0;
    char buffer[2048];
    while (open_pair(&tcp, &udp, &port) != 0) { /* the port may be in use for the other protocol */
        if (++tries == TRIES) {
            perror("listener");
            return 77;
        }
    }
    printf("%u\n", port);
    fflush(stdout);
    struct pollfd polled[3] = {{.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = tcp, .events = POLLIN}, {.fd = udp, .events = POLLIN}};
    for (int ended = 0; !ended;) {
        (void)poll(polled, 3, -1);
        ended = polled[0].revents && read(STDIN_FILENO, buffer, sizeof buffer) <= 0;
        /* Also after the end of input: what is queued was sent before it. */
        while (polled[1].revents & POLLIN) {
            const int caller = accept(tcp, NULL, NULL);
            seen += caller >= 0;
            (void)close(caller);
            (void)poll(&polled[1], 1, 0);
        }
        while (polled[2].revents & POLLIN) {
            seen += recv(udp, buffer, sizeof buffer, 0) >= 0;
            (void)poll(&polled[2], 1, 0);
        }
    }
    printf("%u\n", seen);
    return 0;
}
