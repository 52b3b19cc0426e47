/* The first program of a virtual machine for tests: mounts what programs expect, loads the modules
 * that /modules/order names, runs /test.sh, and turns the machine off. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void mounted(const char *type, const char *where)
{
    mkdir(where, 0755);
    if (mount(type, where, type, 0, NULL) != 0)
        perror(where);
}

int main(void)
{
    char name[256], path[300];
    mounted("proc", "/proc");
    mounted("sysfs", "/sys");
    mounted("devtmpfs", "/dev");
    mounted("tmpfs", "/tmp");
    mounted("tmpfs", "/run");
    mounted("bpf", "/sys/fs/bpf");
    FILE *order = fopen("/modules/order", "r");
    while (order && fgets(name, sizeof name, order)) {
        name[strcspn(name, "\n")] = 0;
        snprintf(path, sizeof path, "/modules/%s", name);
        int file = open(path, O_RDONLY);
        if (syscall(SYS_finit_module, file, "", 0) != 0)
            perror(path);
        close(file);
    }
    setenv("PATH", "/bin", 1);
    if (system("/bin/sh /test.sh") != 0)
        puts("TEST FAILED");
    fflush(stdout);
    sync();
    return reboot(RB_POWER_OFF);
}
