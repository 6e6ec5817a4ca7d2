#!/usr/bin/env python3
"""CPU time per iteration of halosweep in each format and of PETSc, one process and thread each, in turns: for
machines so busy that the clock says nothing. The difference of a long and a short run leaves setup out.

  bench/format_cpu_time.py BUILD ROUNDS
"""
import os,resource,subprocess,statistics,sys
B = sys.argv[1]
env=dict(os.environ,OMPI_ALLOW_RUN_AS_ROOT="1",OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",OPENBLAS_NUM_THREADS="1",OMP_NUM_THREADS="1")
def cpu(cmd):
    a=resource.getrusage(resource.RUSAGE_CHILDREN)
    r=subprocess.run(cmd,env=env,capture_output=True)
    assert r.returncode==0,(cmd,r.stderr)
    b=resource.getrusage(resource.RUSAGE_CHILDREN)
    return b.ru_utime-a.ru_utime
def per(cmd,lo,hi): return (cpu(cmd(hi))-cpu(cmd(lo)))/(hi-lo)
def ours(p,n,m,f): return lambda k:[B+'/src/app/halosweep','solve','--problem',p,'--n',str(n),'--method',m,'--iterations',str(k),'--threads','1','--format',f,'--quiet']
def petsc(p,n,m): return lambda k:[B+'/bench/bench_petsc_compare','-problem',p,'-n',str(n),'-method',m,'-iterations',str(k)]
R = int(sys.argv[2])
for p,n,lo,hi in (('poisson2d', 708, 20, 220), ('poisson3d', 128, 5, 55)):
    for m in ('jacobi', 'cg'):
        t={k:[] for k in ('petsc','auto','packed','sell','csr')}
        for _ in range(R):
            for k in t: t[k].append(per(petsc(p,n,m) if k=='petsc' else ours(p,n,m,k),lo,hi)*1e3)
        med={k:statistics.median(v) for k,v in t.items()}
        print(p,n,m,' '.join('%s %.2f (min %.2f)'%(k,med[k],min(t[k])) for k in t),'| auto/petsc: median of ratios %.2f'%statistics.median(a/b for a,b in zip(t['auto'],t['petsc'])),flush=True)
