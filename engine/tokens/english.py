"""How English a word looks, by its groups of three letters.

Vocabularies are made from mostly English text: a word of the usual letter groups is one token or two,
a word of unusual ones (another language, a name, a code) is cut into many.
"""

EDGE = "_"
"""Stands before and after a word in `USUAL_GROUPS`."""

_GROUPS = """
_a_ _ab _ac _ad _af _ag _al _am _an _ap _ar _as _at _au _av _b_ _ba _be _bi _bl _bo _br _bu
_c_ _ca _ce _ch _ci _cl _co _cr _cu _d_ _da _de _di _do _dr _du _e_ _ea _ed _ef _el _em _en
_es _ev _ex _f_ _fa _fe _fi _fl _fo _fr _fu _g_ _ga _ge _gl _go _gr _gu _h_ _ha _he _hi _ho
_hu _hy _id _im _in _is _it _jo _ju _ke _ki _kn _l_ _la _le _li _lo _m_ _ma _me _mi _mo _mu
_n_ _na _ne _no _nu _o_ _ob _oc _of _on _op _or _ou _ov _p_ _pa _pe _ph _pi _pl _po _pr _pu
_qu _r_ _ra _re _ri _ro _ru _s_ _sa _sc _se _sh _si _sk _sl _sm _so _sp _st _su _sy _t_ _ta
_te _th _ti _to _tr _tu _ty _u_ _un _up _us _va _ve _vi _vo _w_ _wa _we _wh _wi _wo _wr _yo
ab_ abi abl abo ac_ acc ace ach ack act ad_ add ade adi adv aff ag_ age ail ain air ake al_
ale ali all als alt am_ ame ami amp an_ ana anc and ang ani ann ans ant any ap_ app ar_ ara
arc ard are arg ari ark arl arm arn arr ars art ary as_ ase asi ass ast at_ ate ath ati ato
att atu aus aut av_ ave avi ay_ bas be_ bec bel ber bet bil ble bli bor bra bre bri bro but
cal can cap car cas cat cau cce ce_ ced cel cen cer ces ch_ cha che chi cho cia cie cin cip
cit ck_ cla cle clu col com con cor cou cre cri cro cs_ ct_ cte cti cto cts ctu cul cur cus
cy_ dat de_ dec ded def del dem den dep der des det dev dia dic die dif din dis dit div ds_
duc dy_ eac ead eal ean ear eas eat ec_ ece ech eci eco ect ed_ edi edu ee_ eed een ef_ eff
eg_ egi el_ ela ele eli ell elo ely em_ ema emb eme emi emo emp en_ enc end ene eng ens ent
ep_ ept equ er_ era erc ere erg eri erm ern err ers ert erv ery es_ esc ese esi esp ess est
et_ eta ete eth eti ett eve evi ew_ ex_ exa exc exp ext ey_ fac fec fer ff_ ffe ffi fic fil
fin fol for fra fre ful fun gan ge_ gen ger ges get gh_ ght gin gn_ gra gre gro gs_ gy_ hal
han hap har hat hav he_ hea hed hel hem hen her hes hic hil hin his hol hor hou how hro ht_
hy_ ia_ ial ian iat ic_ ica ice ich ici ick ics ict id_ ide ied ien ies if_ iff ifi ig_ igh
ign il_ ild ile ili ill im_ ima ime imi imp in_ ina inc ind ine inf ing ini ins int inv ion
iou ip_ ir_ ire is_ isc ise ish isi iss ist it_ ita ite ith iti its itu ity ive ivi ize jec
ke_ kin kno ks_ lab lac lan lar las lat lay ld_ le_ lea lec led leg lem len ler les let lf_
lic lie lig lim lin lis lit ll_ lle lli llo lly loc log lon lop lor los low ls_ lt_ ly_ mag
mai mal man mar mat mbe me_ mea med mem men mer mes met mic mil min mis mit mme mmu mod mon
mor mos mot mp_ mpa mpe mpl mpo mpr ms_ mul mun mus nal nat nc_ nce nci ncl nco nd_ nda nde
ndi nds ne_ nec ned ner nes net new ng_ nge ngs nic nin nis nit nne nom nor not now ns_ nse
nsi nst nsu nt_ nta nte nti ntr nts nve ny_ ob_ oci ock od_ ode odu of_ off ogr oin ol_ old
ole oli oll olo om_ ome omi omm omp on_ ona onc ond one onf ong oni ons ont ood ook ool op_
ope or_ ora ord ore org ori ork orm ors ort ory os_ ose osi oss ost ot_ ote oth oti ou_ oug
oul oun our ous out ove ovi ow_ owe own pac pan par pas pat pe_ pea pec pen per ph_ pic pin
pl_ pla ple pli plo pol pon por pos pp_ ppe ppl ppo ppr pra pre pri pro ps_ pt_ pti put qu_
qua que qui ra_ rac rad rag rai ral ram ran rap rat rce rch rd_ re_ rea rec red ree ref reg
rel rem ren rep req res ret rev rge ri_ ria rib ric rie rig rim rin rio ris rit riv rk_ rm_
rma rn_ ro_ rob roc rod rog rol rom ron rop ros rot rou rov row rre rri rs_ rse rst rt_ rta
rte rth rti ruc rve ry_ sc_ sch sci sco scr se_ sea sec sed see sel sen ser ses set sh_ sha
she shi sho sid sig sim sin sio sis sit sm_ soc sol som son sor sou sp_ spe spi spo ss_ sse
ssi st_ sta ste sti sto str sts stu sub sum sup sur tab tai tal tan tar tat te_ tea tec ted
tel tem ten ter tes th_ tha the thi tho thr tia tic tie tif til tim tin tio tis tit tiv tle
tly to_ tom ton tor tr_ tra tre tri tro tru ts_ tte tud tur ty_ ual ub_ uct ud_ ude ue_ ues
ugh ul_ ula uld ult um_ ume un_ unc und uni unt upp ur_ ura ure uri urn urs us_ use usi ust
ut_ ute uth uti val var vat ve_ ved vel ven ver ves vid vin vir vis vol war wer whe whi wil
win wit wn_ wor ws_ xpe xpl yin you ys_ yst
"""
USUAL_GROUPS = frozenset(_GROUPS.split())
"""The thousand commonest groups: 78 % of all groups in English words, weighted by their frequency."""


def count_unusual(word: str) -> int:
    """How many of a word's groups, as many as it has letters, are none of the usual ones."""
    edged = f"{EDGE}{word.lower()}{EDGE}"
    return sum(edged[at : at + 3] not in USUAL_GROUPS for at in range(len(edged) - 2))
